import StrictJSON

/// One event in a notification.
public struct NotificationEvent: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        case consentRevoked
        case accountDeleted
        case emailEnabled
        case emailDisabled
        /// The type is missing or unknown to this version.
        case unknown
    }

    public let kind: Kind
    /// `type` as Apple sent it; empty if missing.
    public let type: String
    /// `sub`, which identifies the user. Present in every event of a known kind.
    public let subject: String?
    /// `event_time` in milliseconds since 1970, even if Apple sent seconds. Present in every event of a known
    /// kind.
    public let eventTimeMilliseconds: Int64?
    public let email: String?
    /// True if `email` is a relay address, according to Apple's claim or, if it is missing, the domain; `nil`
    /// if unknown.
    public let isPrivateEmail: Bool?
}

extension NotificationEvent.Kind {
    /// Maps `type` to a kind. Apple uses two spellings for account deletion.
    init(type: String) {
        self =
            switch type {
            case "consent-revoked": .consentRevoked
            case "account-delete", "account-deleted": .accountDeleted
            case "email-enabled": .emailEnabled
            case "email-disabled": .emailDisabled
            default: .unknown
            }
    }
}

extension NotificationEvent {
    /// Maximum number of events in a notification. Apple sends one; the limit bounds the work per delivery.
    static let mostEvents = 16
    /// The largest time that is read as seconds. Larger times are read as milliseconds, because as seconds
    /// they would be after the year 5138.
    private static let largestSeconds: Int64 = 100_000_000_000

    /// Reads `events` in every form that Apple has documented or sent: an object or an array of objects,
    /// directly or inside a JSON string.
    ///
    /// Throws `.eventsMalformed` for any other form.
    static func parse(_ claim: JSONValue) throws(AppleTokenError) -> [NotificationEvent] {
        var value = claim
        if case .string(let text) = claim {
            do throws(JSONError) {
                value = try JSONValue(parsing: Array(text.utf8))
            } catch {
                throw AppleTokenError(.eventsMalformed, detail: error.detail)
            }
        }
        let entries: [JSONValue]
        switch value {
        case .object: entries = [value]
        case .array(let elements): entries = elements
        case .null, .bool, .integer, .number, .string:
            throw AppleTokenError(.eventsMalformed, detail: "neither object nor array")
        }
        guard (1...mostEvents).contains(entries.count) else {
            throw AppleTokenError(.eventsMalformed, detail: "\(entries.count) events")
        }
        var events: [NotificationEvent] = []
        for entry in entries {
            guard case .object(let object) = entry else {
                throw AppleTokenError(.eventsMalformed, detail: "no object")
            }
            events.append(try NotificationEvent(object))
        }
        return events
    }

    private init(_ object: JSONObject) throws(AppleTokenError) {
        type = try object.string("type") ?? ""
        kind = Kind(type: type)
        guard kind != .unknown else {
            // An event of an unknown type may have any members, because their meaning is unknown.
            subject = object["sub"]?.string.flatMap { SubjectCheck.isValid($0) ? $0 : nil }
            eventTimeMilliseconds = object["event_time"]?.integer.flatMap { Self.milliseconds($0) }
            email = object["email"]?.string
            isPrivateEmail = RelayAddress.isPrivate(object["is_private_email"]?.bool, address: email)
            return
        }
        guard let subject = try object.string("sub"), SubjectCheck.isValid(subject) else {
            throw AppleTokenError(.eventsMalformed, detail: "sub")
        }
        guard let time = object["event_time"]?.integer.flatMap({ Self.milliseconds($0) }) else {
            throw AppleTokenError(.eventsMalformed, detail: "event_time")
        }
        self.subject = subject
        eventTimeMilliseconds = time
        switch kind {
        case .emailEnabled, .emailDisabled:
            email = try object.string("email")
            isPrivateEmail = RelayAddress.isPrivate(try object.flag("is_private_email"), address: email)
        case .consentRevoked, .accountDeleted, .unknown:
            // No decision depends on the address, so a malformed address must not prevent a revocation.
            email = object["email"]?.string
            let isPrivate = (try? object.flag("is_private_email")) ?? nil
            isPrivateEmail = RelayAddress.isPrivate(isPrivate, address: email)
        }
    }

    /// Returns `time` in milliseconds; `nil` if it is outside the years 1970 to 9999.
    private static func milliseconds(_ time: Int64) -> Int64? {
        let (low, high) = (NumericDate.validSeconds.lowerBound, NumericDate.validSeconds.upperBound)
        guard time > largestSeconds else { return time >= low ? time * 1000 : nil }
        return time / 1000 <= high ? time : nil
    }
}

extension JSONObject {
    fileprivate func string(_ name: String) throws(AppleTokenError) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string else { throw AppleTokenError(.eventsMalformed, detail: name) }
        return text
    }

    /// Reads a boolean, or the string "true" or "false"; `nil` if the member is missing. Throws
    /// `.eventsMalformed` for any other value.
    fileprivate func flag(_ name: String) throws(AppleTokenError) -> Bool? {
        switch self[name] {
        case nil: return nil
        case .bool(let flag): return flag
        case .string("true"): return true
        case .string("false"): return false
        case .string, .null, .integer, .number, .array, .object:
            throw AppleTokenError(.eventsMalformed, detail: name)
        }
    }
}
