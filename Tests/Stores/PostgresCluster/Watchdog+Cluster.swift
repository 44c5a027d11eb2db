import TestSupport

extension Watchdog {
    /// Defines the function `end_server`, which ends the server of a data directory. It does nothing to another process
    /// that has been given the number of a killed server since, and frees the shared memory of a killed server.
    static let endServer = """
        end_server() {
            file=$1/postmaster.pid
            [ -f "$file" ] || return
            server=$(sed -n 1p "$file"); segment=$(sed -n '7s/.* //p' "$file")
            is_running() { kill -0 "$server" && { [ ! -d /proc/self ] || [ "/proc/$server/cwd" -ef "$1" ]; }; }
            if is_running "$1"; then
                kill -QUIT "$server"; kill -CONT "$server"
                turn=0
                while is_running "$1" && [ $turn -lt 100 ]; do sleep 0.1; turn=$((turn + 1)); done
                is_running "$1" && kill -KILL "$server"
            fi
            # A server that ends by itself removes both.
            [ -f "$file" ] && [ -n "$segment" ] && ipcrm -m "$segment"
        }

        """

    /// Ends the server of this directory, if there is one, and removes the directory.
    init(directory: String) throws {
        try self.init(
            """
            \(Self.endServer)
            cat > /dev/null
            end_server "$1/data"
            rm -rf "$1"
            """, [directory])
    }
}
