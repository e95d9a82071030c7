"""`Puppet`: a marionette's joints, feet that stay, flight, falls and getting up."""
