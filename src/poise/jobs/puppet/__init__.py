"""A body is played from recorded hands; `live/puppet_session.py` plays one live."""
