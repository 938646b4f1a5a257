"""Showing what is known: pictures, tables and sentences, which compute nothing themselves."""
