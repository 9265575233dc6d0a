"""A single-player game of TextArena as a world of merit."""
import textarena


class Game:
    def __init__(self, game):
        self.env = textarena.make(env_id=game)

    def reset(self, seed):
        self.env.reset(num_players=1, seed=seed)
        self.shown = ""
        return self.new_text()

    def step(self, action):
        done, _ = self.env.step(action=action)
        if done:
            rewards, _ = self.env.close()
            return "", rewards[0], True
        return self.new_text(), None, False

    def new_text(self):
        _, text = self.env.get_observation()
        new, self.shown = text[len(self.shown) :], text
        return new.strip()
