import AppleAccounts
import AppleIDClient
import HTTPAPI
import KeySets
import Logging

/// Decides what is logged about the dependencies of the service: one line when a dependency fails, recovers
/// or changes, and none for an attempt that changes nothing. It does no I/O.
struct HealthLog {
    struct Line: Equatable {
        let level: Logger.Level
        let message: String
        var fields: [String: String] = [:]
    }

    /// The signing keys of one team.
    struct SigningKeys: Equatable {
        let keyIDs: Set<String>
        /// The file or directory that cannot be read now, and the reason.
        var trouble: String?
    }

    private enum Keys { case good, old, none }

    private var keys = Keys.good
    private var databaseFailure: StorageError.Code?
    private var signingKeys: [String: SigningKeys] = [:]
    private var isClockWrong = false
    private var sealedWarning: String?

    /// - Parameter sealedWarning: Warning that the service logged about stored values at its start.
    init(sealedWarning: String? = nil) {
        self.sealedWarning = sealedWarning
    }

    /// - Parameter secondsAhead: Seconds by which the clock is ahead of Apple's; `nil` while unknown.
    mutating func notice(secondsAhead: Int64?) -> [Line] {
        guard let secondsAhead else { return [] }
        let difference = Int64(clamping: secondsAhead.magnitude)
        // The margin of 10 s keeps a difference near the bound from writing a line every two seconds.
        let isWrong = difference >= ServiceWarnings.wrongClock - (isClockWrong ? 10 : 0)
        guard isWrong != isClockWrong else { return [] }
        isClockWrong = isWrong
        let fields = ["seconds_ahead": String(secondsAhead)]
        return [
            isWrong
                ? Line(
                    level: .error,
                    message: "the clock of this machine differs from Apple's",
                    fields: fields)
                : Line(
                    level: .notice, message: "the clock of this machine agrees with Apple's", fields: fields)
        ]
    }

    /// - Parameter sealedWarning: Warning from a sample of the stored values; `nil` when every value can be
    ///   decrypted.
    mutating func notice(sealedWarning: String?) -> [Line] {
        guard sealedWarning != self.sealedWarning else { return [] }
        self.sealedWarning = sealedWarning
        guard let sealedWarning else {
            return [Line(level: .notice, message: "stored refresh tokens open again")]
        }
        return [Line(level: .warning, message: sealedWarning)]
    }

    /// A key set that has not been fetched yet after the start is not a failure; a failed fetch is.
    mutating func notice(_ status: KeySetHealth.Status) -> [Line] {
        let (found, cause): (Keys, KeySetFetchError.Code?) =
            switch status {
            case .ready, .stale(nil): (.good, nil)
            case .unavailable(nil): (keys, nil)
            case .stale(let cause?): (.old, cause)
            case .unavailable(let cause?): (.none, cause)
            }
        guard found != keys else { return [] }
        keys = found
        let fields = cause.map { ["cause": $0.rawValue] } ?? [:]
        return switch found {
        case .good: [Line(level: .notice, message: "Apple's key set is fetched again")]
        case .old:
            [
                Line(
                    level: .warning,
                    message: "Apple's key set cannot be fetched; the last good one serves on",
                    fields: fields)
            ]
        case .none:
            [
                Line(
                    level: .error,
                    message:
                        "Apple's key set cannot be fetched and there is no usable one: no token is verified",
                    fields: fields)
            ]
        }
    }

    /// - Parameter failure: Reason why the database accepts no command; `nil` when it works.
    mutating func notice(_ failure: StorageError?) -> [Line] {
        guard failure?.code != databaseFailure else { return [] }
        databaseFailure = failure?.code
        guard let failure else { return [Line(level: .notice, message: "the database is back")] }
        var fields = ["cause": failure.code.rawValue]
        if !failure.detail.isEmpty { fields["detail"] = failure.detail }
        return [Line(level: .error, message: "the database is lost", fields: fields)]
    }

    /// Keys that are present at the first check are not logged.
    mutating func notice(_ found: SigningKeys, ofTeam team: String) -> [Line] {
        let before = signingKeys.updateValue(found, forKey: team)
        guard let before else { return trouble(found.trouble, before: nil, team) }
        let appeared = found.keyIDs.subtracting(before.keyIDs).sorted().map { keyID in
            Line(
                level: .notice, message: "a signing key appeared",
                fields: ["key_id": keyID, "team_id": team])
        }
        let gone = before.keyIDs.subtracting(found.keyIDs).sorted().map { keyID in
            Line(
                level: .warning,
                message: found.keyIDs.isEmpty
                    ? "the last signing key is gone: Apple cannot be asked" : "a signing key is gone",
                fields: ["key_id": keyID, "team_id": team])
        }
        return appeared + gone + trouble(found.trouble, before: before.trouble, team)
    }

    private func trouble(_ current: String?, before: String?, _ team: String) -> [Line] {
        guard current != before else { return [] }
        guard let current else {
            return [
                Line(level: .notice, message: "signing keys can be read again", fields: ["team_id": team])
            ]
        }
        return [
            Line(
                level: .warning,
                message: "a signing key cannot be read; one that was read before stays in use",
                fields: ["team_id": team, "cause": current])
        ]
    }
}
