extension DeviceOptions {
    static let help = """
        DeviceBenchmark: behaves like many devices that sync with a server of CouchDB's HTTP API, and
        measures the server

        Usage: DeviceBenchmark --url http://127.0.0.1:5984 --user admin --password … [options]

        Each device has a replica of one database. It reads its checkpoint, pulls what is new (_changes,
        _bulk_get), and waits for changes by long-poll on a connection that stays open. Now and then a
        device edits one to three documents, merges their conflicts, and pushes (checkpoint, _revs_diff,
        _bulk_docs) on a second connection. Connections are cut on purpose, in the middle of a request
        or of an answer; the device comes back and continues from its checkpoint.

        The run: databases are made; all devices connect; they work for some seconds; they go quiet.
        Then every revision ever written must be on the server, and each device must have the leaves and
        the winners of the server; the status is 1 if not. With --pid, requests of each kind are sent at
        last, while all devices are connected, to find what a kind costs the server's processor.

        An edit wakes all devices of its database, and they sync too. Edits begin at the rate that makes
        --active devices sync at any moment; a slow server gets fewer. A device pauses before each
        request of a sync.

        Options
          --url URL              the server, over HTTP (default http://127.0.0.1:5984)
          --user NAME            an administrator (default admin)
          --password TEXT        the administrator's password (default admin)
          --pid PID              the server's process on this machine, for its memory and processor
          --devices N            how many devices are connected (default 10000)
          --databases N          among how many databases they are divided (default one per 100)
          --documents N          documents in each database (default 20)
          --size BYTES           text in each document (default 300)
          --active N             how many devices sync at any moment (default 100)
          --together N           how many edits follow each other in a database, on average (default 5)
          --think SECONDS        mean pause before a request of a sync (default 0.5)
          --seconds SECONDS      how long devices work (default 60)
          --quiet SECONDS        how long they may take to become equal afterwards (default 120)
          --cut-rate SHARE       the share of requests whose connection is cut (default 0.01)
          --heartbeat SECONDS    how often a waiting long-poll gets a sign of life (default 30)
          --calibration SECONDS  how long requests of each kind are sent at last (default 60, 0 for not)
          --seed N               for the same choices by the devices (default 1)
          --keep                 leave the databases on the server
          --json                 print one line of JSON instead of a table
          -h, --help             print this

        The databases are named device-benchmark-0 and so on; those of an earlier run are removed first.
        The server needs connections and open files for all devices and 300 more. This process raises
        its own limit of open files.
        """
}
