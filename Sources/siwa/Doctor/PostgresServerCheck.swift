import PostgresStorage

/// Whether a PostgreSQL server is one that the service can rely on, and has room for it.
struct PostgresServerCheck {
    static let name = "PostgreSQL"

    let server: PostgresServer
    /// Of one replica, at most.
    let connections: Int

    /// The oldest version with everything that the service's statements use.
    private static let oldestVersion = 130_000

    /// Milliseconds. What a replica has taken on is another's after 30 s, by the other's clock.
    private static let remarkableClockLead: Int64 = 5000

    var findings: [Finding] {
        var findings: [Finding] = []
        if server.version < Self.oldestVersion {
            findings.append(
                .wrong(Self.name, "version \(version) is too old", advice: "Use version 13 or a newer one."))
        }
        if server.isReadOnly {
            findings.append(
                .wrong(
                    Self.name, "the server takes no writes",
                    advice:
                        "It is a standby, or set to be read only. With several hosts in DATABASE_URL add "
                        + "target_session_attrs=read-write."))
        }
        if !server.isSafeOnPowerLoss {
            findings.append(
                .wrong(
                    Self.name, "fsync or full_page_writes is off: a power cut can destroy the database",
                    advice: "Switch both on in postgresql.conf."))
        }
        if server.synchronousCommit == "off" {
            findings.append(
                .note(
                    Self.name, "synchronous_commit is off; siwa switches it on for its own sessions"))
        }
        if server.clockLead.magnitude >= Self.remarkableClockLead {
            let side = server.clockLead < 0 ? "behind" : "ahead of"
            findings.append(
                .note(
                    Self.name,
                    "the clock of this machine is \(server.clockLead.magnitude / 1000) s \(side) the server's",
                    advice: "Keep those of all replicas right with chrony or systemd-timesyncd."))
        }
        let room = server.mostConnections - server.connections
        if room < connections {
            findings.append(
                .note(
                    Self.name,
                    "has room for \(max(room, 0)) more connections; a replica takes up to \(connections)",
                    advice:
                        "Nothing is wrong if the replicas have theirs already. Else raise max_connections, or lower "
                        + "SIWA_DATABASE_CONNECTIONS."))
        }
        return findings.isEmpty ? [.good(Self.name, "version \(version)")] : findings
    }

    private var version: String { "\(server.version / 10_000).\(server.version % 10_000)" }
}
