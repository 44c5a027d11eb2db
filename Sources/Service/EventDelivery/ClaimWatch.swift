import AppleAccounts

/// Finds claims of other replicas whose process is gone, or does not run.
///
/// The holder of a claim writes it again every second. A claim that does not change while this replica looks at it
/// again and again for three seconds is silent. Only the time between looks of this replica counts, so the clocks of
/// replicas need not agree, and an outage of the database, in which no replica can write or look, ends no claim.
/// Does no I/O and reads no clock.
struct ClaimWatch: Sendable {
    /// Milliseconds after which a claim is silent.
    static let silence: Int64 = 3000
    /// Milliseconds between two looks while another replica has a claim.
    static let interval: Int64 = 500
    /// Milliseconds between two looks after which the time begins anew: this replica was held up itself.
    static let longestGap: Int64 = 1500

    private struct Sighting {
        let record: ReceiverRecord
        let firstAt: Moment
        var lastAt: Moment
    }

    private var sightings: [ReceiverName: Sighting] = [:]

    /// Returns the silent claims among receivers that this replica has not claimed, and the moment of the next look;
    /// `nil` when none of them has a claim.
    ///
    /// - Parameter records: As they are stored now.
    mutating func look(
        at records: [ReceiverRecord], now: Moment
    ) -> (silent: [ReceiverRecord], next: Moment?) {
        let claimed = records.filter { $0.notBefore > now }
        let known = sightings
        sightings = [:]
        var silent: [ReceiverRecord] = []
        for record in claimed {
            var sighting = Sighting(record: record, firstAt: now, lastAt: now)
            if let before = known[record.name], before.record == record,
                (0...Self.longestGap).contains(now.milliseconds - before.lastAt.milliseconds)
            {
                sighting = before
                sighting.lastAt = now
            }
            if now.milliseconds - sighting.firstAt.milliseconds >= Self.silence {
                silent.append(record)
            } else {
                sightings[record.name] = sighting
            }
        }
        return (silent, claimed.isEmpty ? nil : now.advanced(byMilliseconds: Self.interval))
    }
}
