"""What several demos use: films and figures of takes, conductors."""
