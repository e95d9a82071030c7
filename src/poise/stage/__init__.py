"""Where actors move: who drives which joints, and how the parts are coupled."""
