"""Files of many formats, made and read without Poise's readers and writers."""
