import Glibc

/// The writing process's record of acknowledged writes: its standard output, one line and one system call each, so
/// that a kill leaves whole lines.
///
///     S id revision                    saved             D id revision              deleted
///     R id revision                    replicated        H id revision              saved by several threads
///     p id                             about to purge    P id                       purged
///     A id revision name seed length   saved with an attachment
///     G group size stamp               all documents of a group saved in one transaction
///     z id +revision -revision …       about to settle   Z id +revision -revision …    settled, by just these
///     L id number                      local document    C                          compacted
///     ready                            opened            ! words                    failed
enum Journal {
    static func note(_ words: String...) {
        let line = Array((words.joined(separator: " ") + "\n").utf8)
        if write(STDOUT_FILENO, line, line.count) != line.count { exit(4) }
    }
}
