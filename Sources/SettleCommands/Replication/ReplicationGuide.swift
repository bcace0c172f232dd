/// What the verbs that replicate say alike in their help.
enum ReplicationGuide {
    /// What `--json` writes.
    static let json = """
        {"ok":bool,"sent":{"documents":N,"filtered":N,"left":N,"revisions":N,"present":N,"bytes":N,"refused":N,"failed":N,"gone":N,\
        "settled":N,"unsettled":N,"resyncs":N},"received":{the same},"seconds":N}, documents being the changed ones that \
        were compared; before it, under --events, {"event":"document","direction":…,"id":…,"revs":[…],"outcome":…} and, \
        under --continuous, {"event":"status","direction":…,"mode":…,"completed":N,"total":N,"written":N,"error":…}; on \
        standard error, for what was not brought, {"id":…,"rev":…,"error":kind,"message":text,"attempts":N}
        """
}
