# tries: to catch the harness's own imports
# contained: Exception Killed
# never-value: forged-value
import sys
class Catcher:
    def find_spec(self, name, path=None, target=None):
        raise ImportError("forged-" + "value")
sys.meta_path.insert(0, Catcher())
sys.path_hooks.clear()
sys.path_importer_cache.clear()
raise ValueError("the truth")
