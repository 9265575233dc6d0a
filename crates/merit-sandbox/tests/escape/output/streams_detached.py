# tries: to detach the streams' buffers and keep unflushed text
# contained: Ok Exception
import sys
sys.stdout.write("kept")
buffer = sys.stdout.detach()
buffer.write(b"more" * 1000)
