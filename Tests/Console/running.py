"""Runs scenarios: several at once, each with a server of its own that has the same data, and tells of them in order."""
import argparse
import collections
import contextlib
import functools
import io
import multiprocessing
import os
import queue
import shutil
import signal
import sys
import time
import traceback

from engines import ENGINES
from firefox import FIREFOX
import pictures
from room import Visit, browser

# Pictures of pages on which a scenario failed, of the last run.
FAILED = ".build/console-failed"

Task = collections.namedtuple("Task", "browser scenario")
Result = collections.namedtuple("Result", "seconds problem told")


class Room:
    """The server and the browser of one scenario."""

    def __init__(self, server, browser):
        self.server, self.browser, self.visits = server, browser, []

    @property
    def chromium(self):
        return self.browser

    def visit(self, server=None, **options):
        """A page of the console of this server, or of another one."""
        visit = Visit(self.browser, server or self.server, **options)
        self.visits.append(visit)
        return visit

    def close(self):
        complaints = [one for visit in self.visits for one in visit.complaints]
        for visit in self.visits:
            visit.close()
        return complaints

    def photograph(self, name):
        """Pictures of the pages as they are when a scenario fails."""
        os.makedirs(FAILED, exist_ok=True)
        for place, visit in enumerate(self.visits, 1):
            with contextlib.suppress(Exception):
                path = f"{FAILED}/{name}-{place}.png"
                visit.page.screenshot(path=path, timeout=5000)
                yield path


def where():
    """What went wrong, and the lines of the scenario; not those of Playwright."""
    own = os.path.dirname(os.path.abspath(__file__))
    kind, error, trace = sys.exc_info()
    lines = [line for line in traceback.extract_tb(trace) if os.path.dirname(os.path.abspath(line.filename)) == own]
    return "".join([*traceback.format_list(lines), *traceback.format_exception_only(kind, error)])


def perform(filled, browser, task):
    """Runs one scenario."""
    began, problem, told, name = time.monotonic(), None, io.StringIO(), f"{task.scenario.__name__}-{task.browser}"
    server = filled.server()
    try:
        room = Room(server, browser)
        with contextlib.redirect_stdout(told):
            try:
                task.scenario(room)
            except Exception:
                problem = where()
                for path in room.photograph(name):
                    problem += f"the page is shown by {path}\n"
        complaints = room.close()
        if not problem and complaints:
            problem = "the browser complains: " + "; ".join(complaints[:5])
        if not problem and server.process.poll() is not None:
            problem = f"the server has ended with {server.process.returncode}"
    except Exception:
        problem = (problem or "") + where()
    finally:
        server.close()
    return Result(time.monotonic() - began, problem, told.getvalue())


def work(fill, tasks, todo, done):
    """What a process does: it takes one task after the other, and starts a browser when the first one needs it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        filled = stack.enter_context(contextlib.closing(fill()))
        name, rest, started = None, contextlib.ExitStack(), None
        stack.callback(lambda: rest.close())
        while (place := todo.get()) is not None:
            done.put((place, os.getpid()))
            task = tasks[place]
            if task.browser != name or not started.is_connected():
                # One browser at a time, and a new one after one that has crashed.
                with contextlib.suppress(Exception):
                    rest.close()
                rest, name = contextlib.ExitStack(), task.browser
                started = rest.enter_context(browser(name))
            done.put((place, perform(filled, started, task)))


def describe(task, result):
    of = "" if task.browser == "chromium" else f"{task.browser.capitalize()}: "
    print(f"{'FAILED' if result.problem else 'passed'}  {result.seconds:5.1f} s  {of}{task.scenario.__doc__}")
    print("".join(f"{text.rstrip()}\n" for text in (result.told, result.problem) if text), end="", flush=True)


def run(fill, tasks, jobs):
    """The results of tasks, in their order; each is told as soon as those before it are."""
    results, busy, shown = {}, {}, 0
    context = multiprocessing.get_context("fork")
    todo, done = context.Queue(), context.Queue()
    for place in range(len(tasks)):
        todo.put(place)
    for _ in range(jobs):
        todo.put(None)
    workers = [context.Process(target=work, args=(fill, tasks, todo, done)) for _ in range(jobs)]
    for worker in workers:
        worker.start()
    try:
        while len(results) < len(tasks):
            try:
                place, told = done.get(timeout=1)
            except queue.Empty:
                for worker in [one for one in workers if one.exitcode]:
                    workers.remove(worker)
                    place = busy.pop(worker.pid, None)
                    if place is not None and place not in results:
                        results[place] = Result(0, f"its process ended with {worker.exitcode}", "")
                if not any(worker.is_alive() for worker in workers) and done.empty():
                    break
            else:
                if isinstance(told, Result):
                    results[place] = told
                    busy = {worker: task for worker, task in busy.items() if task != place}
                else:
                    busy[told] = place
            while shown in results:
                describe(tasks[shown], results[shown])
                shown += 1
    finally:
        for worker in workers:
            worker.join(timeout=20 if len(results) == len(tasks) else 0)
            if worker.is_alive():
                worker.terminate()
                worker.join()
    missing = Result(0, "it was not run: no process was left", "")
    for place in range(shown, len(tasks)):
        describe(tasks[place], results.setdefault(place, missing))
    return [results[place] for place in range(len(tasks))]


def summary(tasks, results, seconds):
    by_time = sorted(zip(results, tasks), key=lambda one: -one[0].seconds)[:10]
    print("\nThe slowest:")
    for result, task in by_time:
        print(f"  {result.seconds:5.1f} s  {task.scenario.__name__}{'' if task.browser == 'chromium' else f' in {task.browser.capitalize()}'}")
    print(f"\n{sum(not one.problem for one in results)} of {len(results)} scenarios passed in {seconds:.0f} s")
    for task, result in zip(tasks, results):
        if result.problem:
            print(f"FAILED: {task.scenario.__name__}{'' if task.browser == 'chromium' else f' --browser {task.browser}'}\n{result.problem.rstrip()}")


def chosen(scenarios, names):
    """The scenarios of some names, or those that begin with one; a name that none has is a mistake."""
    if not names:
        return scenarios
    def is_meant(one, name): return one.__name__ == name or one.__name__.startswith(name + "_in_")
    for name in names:
        if not any(is_meant(one, name) for one in scenarios):
            raise SystemExit(f"there is no scenario {name}")
    return [one for one in scenarios if any(is_meant(one, name) for name in names)]


def planned(scenarios, core, given):
    """What is done: without a wish all scenarios in Chromium, pictures of its pages, and the core of the scenarios in Firefox where it is installed."""
    names = given.only and given.only.split(",")
    why = pictures.fonts()
    if given.keep or given.compare:
        if why:
            raise SystemExit(f"pictures can't be compared here: {why}")
        return [Task("chromium", one) for one in chosen(pictures.all_pictures(given.keep), names)]
    every = scenarios + ([] if why else pictures.all_pictures())
    if given.browser or names or given.engine == "postgres":
        isPart = given.browser == "firefox" or given.engine == "postgres"
        return [Task(given.browser or "chromium", one) for one in chosen(every, names or (core if isPart else None))]
    if why:
        print(f"Pictures are not compared: {why}")
    more = chosen(scenarios, core) if os.path.exists(FIREFOX) else []
    return [Task("chromium", one) for one in every] + [Task("firefox", one) for one in more]


def main(scenarios, core, take_pictures, description):
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--settle", default=".build/debug/settle")
    options.add_argument("--only", help="names of scenarios, separated by commas")
    options.add_argument("--browser", choices=("chromium", "firefox"), help="one browser alone; Firefox does the core of the scenarios")
    options.add_argument("--engine", choices=sorted(ENGINES), default="files", help="where the databases are; with PostgreSQL the core of the scenarios")
    options.add_argument("--jobs", type=int, default=3, help="how many run at once")
    options.add_argument("--latency", type=int, default=0, metavar="MS", help="how late each answer comes in Chromium: "
                         "finds scenarios that look at the server before the page has written")
    options.add_argument("--compare", action="store_true", help="compare pictures of the pages with those that are kept, and nothing else")
    options.add_argument("--keep", action="store_true", help="keep pictures of the pages as they are now")
    options.add_argument("--pictures", help="the folder of pictures for the documentation, which are made in place of the scenarios")
    given = options.parse_args()
    Visit.latency = given.latency
    fill = functools.partial(ENGINES[given.engine], os.path.abspath(given.settle))
    if given.pictures:
        with contextlib.closing(fill()) as filled, contextlib.closing(filled.server()) as server, browser() as chromium:
            return take_pictures(server, chromium, given.pictures)
    tasks = planned(scenarios, core, given)
    for folder in (FAILED, pictures.DIFFERENT):
        shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    results = run(fill, tasks, max(1, min(given.jobs, len(tasks))))
    summary(tasks, results, time.monotonic() - began)
    sys.exit(1 if any(one.problem for one in results) else 0)
