import PostgresStorage

/// Checks a PostgreSQL server's version, settings and number of free connections.
struct PostgresServerCheck {
    static let name = "PostgreSQL"

    let server: PostgresServer
    /// A replica's maximum number of connections.
    let connections: Int

    /// The oldest version that supports all of the service's statements.
    private static let oldestVersion = 130_000

    /// The check reports a clock difference of at least this many milliseconds. The difference matters
    /// because another replica may take over a claim after 30 s by its own clock.
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
                    Self.name, "the server is read-only",
                    advice:
                        "It is a standby, or configured as read-only. With several hosts in DATABASE_URL, add "
                        + "target_session_attrs=read-write."))
        }
        if !server.isSafeOnPowerLoss {
            findings.append(
                .wrong(
                    Self.name, "fsync or full_page_writes is off: a power failure can destroy the database",
                    advice: "Turn both on in postgresql.conf."))
        }
        if server.synchronousCommit == "off" {
            findings.append(
                .note(
                    Self.name, "synchronous_commit is off; siwa turns it on for its own sessions"))
        }
        if server.clockLead.magnitude >= Self.remarkableClockLead {
            let side = server.clockLead < 0 ? "behind" : "ahead of"
            findings.append(
                .note(
                    Self.name,
                    "the clock of this machine is \(server.clockLead.magnitude / 1000) s \(side) the server's",
                    advice: "Synchronize the clocks of all replicas with chrony or systemd-timesyncd."))
        }
        findings += StandbyCheck(standbys: server.standbys).findings
        let free = server.mostConnections - server.connections
        if free < connections {
            findings.append(
                .note(
                    Self.name,
                    "has \(max(free, 0)) free connections; a replica uses up to \(connections)",
                    advice:
                        "This is normal while the replicas run and use theirs. Otherwise raise max_connections, or lower "
                        + "SIWA_DATABASE_CONNECTIONS."))
        }
        return findings.isEmpty ? [.good(Self.name, "version \(version)")] : findings
    }

    private var version: String { "\(server.version / 10_000).\(server.version % 10_000)" }
}

/// Checks that the synchronous standbys are connected. Reports nothing for a server without synchronous
/// standbys.
struct StandbyCheck {
    static let name = "standbys"

    let standbys: PostgresStandbys

    var findings: [Finding] {
        let (connected, required) = (standbys.connected, standbys.required)
        guard required > 0 else {
            guard connected > 0 else { return [] }
            return [
                .note(
                    Self.name, "\(connected) connected, and commits wait for none",
                    advice:
                        "A failover loses the commits that the standby has not received. Name the standby in "
                        + "synchronous_standby_names to prevent this.")
            ]
        }
        guard let synchronous = standbys.synchronous else {
            return [
                .note(
                    Self.name,
                    "\(connected) connected, commits wait for \(required), and the role may not see which are "
                        + "synchronous",
                    advice: "Let the role see it: GRANT pg_monitor TO the role of DATABASE_URL.")
            ]
        }
        guard synchronous >= required else {
            return [
                .wrong(
                    Self.name,
                    "commits wait for \(required), and \(synchronous) of the named standbys are connected",
                    advice:
                        "Every write fails with 503 after 10 s until a standby of synchronous_standby_names is back. "
                        + "Start it, or remove it from this setting.")
            ]
        }
        return [.good(Self.name, "commits wait for \(required), and \(synchronous) are connected")]
    }
}
