# Tracebacks a reader can use: own frames removed, repetition folded, first and last frames kept, everything bounded.

MAX_TRACEBACK, MAX_MESSAGE, MAX_LINE = 2000, 500, 160
FIRST_FRAMES, LAST_FRAMES = 4, 6
OWN = globals()


def clean(text):
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def cut(text, limit):
    return text if len(text) <= limit else text[: limit - 3] + "..."


def kind_of(error):
    kind = type(error)
    home = kind.__module__
    return kind.__qualname__ if home in ("builtins", "__main__") else "%s.%s" % (home, kind.__qualname__)


def message_of(error):
    try:
        return cut(clean(str(error)), MAX_MESSAGE)
    except BaseException:
        return "(its text could not be made)"


def frames_of(error):
    frames, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        own = trace.tb_frame.f_globals is OWN or code.co_filename.startswith("<frozen importlib")
        if not own:
            frames.append((code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return frames


def source_line(name, number):
    import linecache

    return cut(clean(linecache.getline(name, number).strip()), MAX_LINE)


def folded(frames):
    # Runs of one frame become one line and a count.
    runs = []
    for frame in frames:
        if runs and runs[-1][0] == frame:
            runs[-1][1] += 1
        else:
            runs.append([frame, 1])
    return runs


def frame_lines(frames):
    runs = folded(frames)
    gap = len(runs) - FIRST_FRAMES - LAST_FRAMES
    if gap > 0:
        left_out = sum(count for _, count in runs[FIRST_FRAMES:-LAST_FRAMES])
        runs[FIRST_FRAMES:-LAST_FRAMES] = [[None, left_out]]
    lines = []
    for frame, count in runs:
        if frame is None:
            lines.append("  ... %d more frames ..." % count)
            continue
        name, number, function = frame
        lines.append('  File "%s", line %d, in %s' % (cut(clean(name), 80), number, cut(function, 80)))
        text = source_line(name, number)
        if text:
            lines.append("    " + text)
        if count > 1:
            lines.append("    [repeated %d more times]" % (count - 1))
    return lines


def syntax_line(error):
    # One line with the position; None when it is not about the program's own text.
    if not isinstance(error, SyntaxError) or frames_of(error):
        return None
    place = "%s, line %s, column %s" % (error.filename, error.lineno, error.offset)
    text = cut((error.text or "").strip(), MAX_LINE)
    return clean("%s: %s (%s): %s" % (kind_of(error), error.msg, place, text))


def origins(error):
    lines, seen = [], 0
    while seen < 3:
        seen += 1
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if error is None:
            break
        frames = frames_of(error)
        place = " (%s, line %d)" % frames[-1][:2] if frames else ""
        lines.append("after %s: %s%s" % (kind_of(error), cut(message_of(error), MAX_LINE), place))
    return lines


def bounded(text):
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_TRACEBACK:
        return text
    head, tail = data[: MAX_TRACEBACK // 2 - 20], data[-(MAX_TRACEBACK // 2 - 20):]
    return head.decode("utf-8", "ignore") + "\n  ... cut ...\n" + tail.decode("utf-8", "ignore")


def traceback_of(error):
    one_line = syntax_line(error)
    if one_line is not None:
        return bounded(one_line)
    message = message_of(error)
    last = kind_of(error) + (": " + message if message else "")
    lines = ["Traceback (most recent call last):"] + frame_lines(frames_of(error))
    return bounded(clean("\n".join(lines + [last] + origins(error))))
