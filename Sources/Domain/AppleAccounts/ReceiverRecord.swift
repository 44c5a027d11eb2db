import Encodings

/// A receiver's position in the event feed.
///
/// Each event up to the cursor was delivered, has a `DeliveryRetry`, or is of a type or app that the receiver
/// has not requested. Nothing is stored for the events after it.
public struct ReceiverRecord: Sendable, Hashable {
    public let name: ReceiverName
    public var cursor: Int64
    /// Number of claims so far, including replays. Only the process with the latest claim may write, so a
    /// delayed process that has lost its claim changes nothing.
    public var claims: Int64
    /// The earliest time at which the receiver can be claimed: the end of the current claim.
    public var notBefore: Moment
    /// Start of the pause; `nil` if the receiver is not paused. A
    /// paused receiver gets no events until an operator resumes it.
    public var pausedAt: Moment?
    /// A requested verification that has not been sent yet.
    public var verification: StreamVerification?
    /// Time of the last verification request.
    public var verificationAskedAt: Moment?

    public init(
        name: ReceiverName, cursor: Int64, claims: Int64 = 0, notBefore: Moment, pausedAt: Moment? = nil,
        verification: StreamVerification? = nil, verificationAskedAt: Moment? = nil
    ) {
        (self.name, self.cursor, self.claims) = (name, cursor, claims)
        (self.notBefore, self.pausedAt) = (notBefore, pausedAt)
        (self.verification, self.verificationAskedAt) = (verification, verificationAskedAt)
    }
}

/// A receiver with all its pending retries.
public struct ClaimedReceiver: Sendable, Hashable {
    public var record: ReceiverRecord
    /// Retries in the order of their sequence numbers.
    public var retries: [DeliveryRetry]

    public init(record: ReceiverRecord, retries: [DeliveryRetry]) {
        (self.record, self.retries) = (record, retries)
    }
}

/// A receiver's scheduling data, as workers see it before they claim the receiver.
public struct DueReceiver: Sendable, Hashable {
    public let record: ReceiverRecord
    /// The earliest time at which the receiver can be claimed; `nil` if it has no work.
    public let at: Moment?

    public init(record: ReceiverRecord, at: Moment?) {
        (self.record, self.at) = (record, at)
    }
}

extension ClaimedReceiver {
    /// True if there is still room for failed events, so that the events after the cursor can be attempted.
    public var hasRoom: Bool { retries.count < DeliveryRetry.mostPerReceiver }

    /// Returns an upper bound for the number of undelivered events. Some events after the cursor can be of
    /// types or apps that the receiver has not requested.
    public func waiting(lastSequence: Int64) -> Int64 {
        max(lastSequence - record.cursor, 0) + Int64(retries.count)
    }

    /// Returns the earliest time at which the receiver can be claimed; `nil` if it is paused or has no work.
    ///
    /// - Parameter lastSequence: Sequence number of the last event in the feed.
    public func due(lastSequence: Int64) -> Moment? {
        guard record.pausedAt == nil else { return nil }
        if record.verification != nil { return record.notBefore }
        if record.cursor < lastSequence, hasRoom { return record.notBefore }
        return retries.map(\.dueAt).min().map { max($0, record.notBefore) }
    }
}

/// The result of several attempts, written in one transaction.
public struct ReceiverProgress: Sendable, Hashable {
    public var cursor: Int64
    /// New and modified retries.
    public var changed: [DeliveryRetry]
    /// Sequence numbers of finished retries.
    public var removed: [Int64]
    /// The end of the claim.
    public var notBefore: Moment
    public var pausedAt: Moment?
    /// The verification that has been sent.
    public var verified: EventID?
    /// True if this progress counts as a claim, so that processes that read the receiver earlier cannot
    /// write. If several processes read a receiver without a claim, only one of them writes.
    public var countsAsClaim: Bool

    public init(
        cursor: Int64, changed: [DeliveryRetry] = [], removed: [Int64] = [], notBefore: Moment,
        pausedAt: Moment? = nil, verified: EventID? = nil, countsAsClaim: Bool = false
    ) {
        (self.cursor, self.changed, self.removed) = (cursor, changed, removed)
        (self.notBefore, self.pausedAt) = (notBefore, pausedAt)
        (self.verified, self.countsAsClaim) = (verified, countsAsClaim)
    }
}

/// An event that a receiver has not accepted yet, or that waits behind such an event for the same account.
///
/// A retry stores only the event's number. Each attempt reads the event from the feed, so attempts after an
/// erasure name no user.
public struct DeliveryRetry: Sendable, Hashable {
    /// Maximum number of waiting events per receiver. Once
    /// it is reached, the receiver's cursor does not move.
    public static let mostPerReceiver = 256

    public let sequence: Int64
    /// Number of failed attempts; 0 for an event that waits behind another event.
    public var attempts: Int64
    public var dueAt: Moment
    /// Start of the time that counts toward the pause limit: the first failed attempt, or the receiver's
    /// resumption.
    public var waitingSince: Moment

    public init(sequence: Int64, attempts: Int64, dueAt: Moment, waitingSince: Moment) {
        (self.sequence, self.attempts) = (sequence, attempts)
        (self.dueAt, self.waitingSince) = (dueAt, waitingSince)
    }
}

/// A test event that a receiver has requested to test its stream (OpenID Shared Signals Framework §8.1.4).
/// Each receiver has at most one, so requests cannot fill a table.
public struct StreamVerification: Sendable, Hashable {
    /// Maximum length of a state, in bytes.
    public static let longestState = 1024
    /// Minimum time between two requests for the same receiver, in milliseconds.
    public static let interval: Int64 = 60_000

    /// The `jti` of the verification token.
    public let id: EventID
    /// Text from the receiver, which the event echoes.
    public let state: String?

    public init(id: EventID, state: String?) {
        (self.id, self.state) = (id, state)
    }
}

/// The response to a verification request.
public enum VerificationRequestResult: Sendable, Hashable, CaseIterable {
    case accepted
    /// The last request was less than `StreamVerification.interval` ago.
    case tooSoon
    /// The receiver is paused, so nothing is sent.
    case paused
    case unknownReceiver
}

extension ReceiverRecord {
    /// Accepts or refuses a verification request. An accepted request replaces an earlier request whose
    /// verification has not been sent yet.
    public mutating func request(
        _ verification: StreamVerification, at moment: Moment
    ) -> VerificationRequestResult {
        guard pausedAt == nil else { return .paused }
        // If the clock was set back, requests must not be refused until it catches up.
        if let last = verificationAskedAt, last <= moment,
            moment < last.advanced(byMilliseconds: StreamVerification.interval)
        {
            return .tooSoon
        }
        (self.verification, verificationAskedAt) = (verification, moment)
        return .accepted
    }
}

/// The name of an event receiver in the configuration and in rows: 1 to 64 letters, digits, ".", "-" and "_",
/// or "client:" followed by an OAuth client ID.
public struct ReceiverName: Hashable, Sendable {
    public static let longest = 64

    /// The built-in receiver that reports ended refresh tokens to Google. No webhook can have this name.
    public static let google = ReceiverName(builtIn: "google")

    /// Name prefix of OAuth client streams. No other name contains a colon.
    static let clientPrefix = "client:"

    public let rawValue: String

    /// Creates the name of the receiver that gets an OAuth client's events.
    ///
    /// - Parameter client: An ID that contains only characters that the configuration accepts.
    public init(of client: OAuthClientID) {
        rawValue = Self.clientPrefix + client.rawValue
    }

    /// True for an OAuth client's stream.
    public var isOfClient: Bool { rawValue.hasPrefix(Self.clientPrefix) }

    private init(builtIn name: String) { rawValue = name }

    public init?(_ text: String) {
        if text.hasPrefix(Self.clientPrefix) {
            let id = text.dropFirst(Self.clientPrefix.count)
            guard (1...128).contains(id.utf8.count), String(id).hasOnlyLettersDigits(and: ".-_~") else {
                return nil
            }
            rawValue = text
            return
        }
        guard (1...Self.longest).contains(text.utf8.count), text.hasOnlyLettersDigits(and: ".-_") else {
            return nil
        }
        rawValue = text
    }
}

extension ReceiverName: Comparable {
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

extension ReceiverName: CustomStringConvertible {
    public var description: String { rawValue }
}
