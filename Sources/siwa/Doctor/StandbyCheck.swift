import PostgresStorage

/// Checks that the standbys which commits wait for are there. Has no finding for a server without standbys.
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
