"""What is sent to servers, as structs: one module for the newest revision of each era.

Made by scripts/generate-messages from spec/. Older legacy revisions take the same messages.
"""
