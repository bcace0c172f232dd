"""A scenario of the memory that a page uses."""
from documents import fill
from room import expect

# Megabytes by which a page may grow while the same is done again and again.
GROWTH = 3


def memory_is_given_back(room):
    """Pages that are opened again and again, and a long list that is paged through, give back the memory that they used."""
    fill(room.server)
    visit = room.visit(clock=True)
    visit.log_in()

    def look_around():
        for where in ("#/db/groceries/conflict/milk", "#/db/groceries/doc/milk", "#/db/groceries/changes", "#/replications"):
            visit.go(where)
            visit.later(11)
            visit.settled()
        visit.go("#/db/long/docs?fields=n")
        for end in (1e6, 1e6, 0):
            visit.page.evaluate(f"document.querySelector('.key-list').scrollTop = {end}")
            visit.page.wait_for_timeout(30)
            visit.settled()
        visit.go("#/")
        return visit.heap()

    # The modules are loaded, and what the engine keeps of them is there, after two rounds.
    before = [look_around() for _ in range(2)][-1]
    after = [look_around() for _ in range(4)][-1]
    expect(after - before < GROWTH, f"{before:.1f} MB became {after:.1f} MB")


MEMORY = [memory_is_given_back]
