"""What Gymnasium loads when it is imported: ids for every world, and nothing heavy."""

from gymnasium.envs.registration import register as add
from gymnasium.envs.registration import registry


def register():
    """Makes every world an id of Gymnasium: ``gymnasium.make("merit/kbqa", mode="notes")``."""
    from merit_rl._merit import names

    for world in names("worlds"):
        if f"merit/{world}" not in registry:
            add(
                id=f"merit/{world}",
                entry_point="merit_rl.gym:TextEnv",
                vector_entry_point="merit_rl.gym:vector",
                kwargs={"world": world},
                order_enforce=False,
                disable_env_checker=True,
            )
