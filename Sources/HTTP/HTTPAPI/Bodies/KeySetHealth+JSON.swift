import AppleAccounts
import KeySets
import StrictJSON

extension JSONWriter {
    mutating func value(_ health: KeySetHealth) {
        beginObject()
        switch health.status {
        case .ready: member("status", "ready")
        case .stale(let cause):
            member("status", "stale")
            member("warning", cause?.rawValue ?? "not_refreshed")
        case .unavailable(let cause):
            member("status", "unavailable")
            member("cause", ifPresent: cause?.rawValue)
        }
        member("count", health.keyCount)
        if health.skippedKeyCount > 0 { member("skipped", health.skippedKeyCount) }
        member("age_seconds", ifPresent: health.age.map { $0 / 1000 })
        member("fresh_until", ifPresent: health.freshUntil.map { Moment(milliseconds: $0).rfc3339 })
        member("usable_until", ifPresent: health.usableUntil.map { Moment(milliseconds: $0).rfc3339 })
        endObject()
    }
}
