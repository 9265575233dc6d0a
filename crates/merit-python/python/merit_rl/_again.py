"""What was pickled is made again: the settings travel, and everything that is open is opened where it arrives."""

from merit_rl._merit import Rollout, Tool, Verifier, World


def _keywords(table):
    settings = dict(table)
    return settings.pop("type"), settings


def world(table):
    name, settings = _keywords(table)
    return World(name, **settings)


def tool(table, wanted):
    name, settings = _keywords(table)
    return Tool(name, tool=wanted, **settings)


def verifier(kind, settings):
    return Verifier(kind, **settings)


def rollout(recipe, settings):
    return Rollout(recipe, **settings)
