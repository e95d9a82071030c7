"""What tests share: bodies, clips, forces, stages, hands, files; nothing in it is a test."""
