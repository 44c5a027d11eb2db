import TestSupport

extension Watchdog {
    /// Ends the server of this directory, if there is one, and removes the directory.
    init(directory: String) throws {
        try self.init(
            """
            cat > /dev/null
            [ -f "$1/data/postmaster.pid" ] && kill -QUIT "$(head -1 "$1/data/postmaster.pid")"
            sleep 0.2
            rm -rf "$1"
            """, [directory])
    }
}
