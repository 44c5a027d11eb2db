package import AppleAccounts
package import Cryptography

/// Keys of the rows that a batch of grant commands must read, sorted and without duplicates.
///
/// A store first finds the accounts to which the codes, token families and other keys belong, then locks all
/// accounts in a fixed order, and then loads all their rows. It need only load the codes of `codeDigests`,
/// unless `needsAllCodes` is true.
package struct GrantSelection: Sendable, Hashable {
    /// The accounts named in the commands.
    package private(set) var accountIDs: [AccountID] = []
    package private(set) var codeDigests: [SHA256Digest] = []
    /// True if a command needs all of its account's codes.
    package private(set) var needsAllCodes = false
    package private(set) var familyIDs: [UniqueID] = []
    /// The `sub`s of Google accounts. For each, a store loads the linked token families and Google's last
    /// statement about the account.
    package private(set) var googleSubjects: [String] = []
    /// Double SHA-512 digests of current refresh tokens.
    package private(set) var tokenDigests: [SHA512Digest] = []
    /// The `jti`s of Google's events.
    package private(set) var eventIdentifiers: [String] = []
    /// Device authorizations that a store locks before it looks up the owners of the codes, so that a consent
    /// committed at the same time has already created its code.
    package private(set) var deviceDigests: [SHA256Digest] = []
    /// The user codes of new device authorizations.
    package private(set) var userCodeDigests: [SHA256Digest] = []
    /// The clients of new device authorizations. A store lets only one transaction at a time count and insert
    /// device authorizations.
    package private(set) var newDevicesOf: [OAuthClientID] = []

    init(_ commands: [GrantCommand]) {
        for command in commands {
            if !command.isAboutOneFamily { needsAllCodes = true }
            switch command {
            case .authorize(let authorize): accountIDs.append(authorize.accountID)
            case .redeem(let redeem): codeDigests.append(redeem.codeDigest)
            case .refresh(let refresh): familyIDs.append(refresh.presented.familyID)
            case .revoke(let revoke): familyIDs.append(revoke.token.familyID)
            case .end(let end): accountIDs.append(end.accountID)
            case .endAll(let end): accountIDs.append(end.accountID)
            case .exchange(let exchange): accountIDs.append(exchange.accountID)
            case .beginDevice(let begin):
                userCodeDigests.append(begin.device.userCodeDigest)
                newDevicesOf.append(begin.device.oauthClientID)
            case .decideDevice(let decide):
                deviceDigests.append(decide.deviceDigest)
                if let approval = decide.approval { accountIDs.append(approval.accountID) }
            case .pollDevice(let poll):
                deviceDigests.append(poll.redemption.codeDigest)
                codeDigests.append(poll.redemption.codeDigest)
            case .assertion(let assertion):
                accountIDs.append(assertion.accountID)
                googleSubjects.append(assertion.googleSubject)
            case .learnGoogleSubject(let learning):
                accountIDs.append(learning.accountID)
                googleSubjects.append(learning.googleSubject)
            case .googleEvent(let event):
                eventIdentifiers.append(event.jti)
                googleSubjects += event.changes.compactMap(\.googleSubject)
                tokenDigests += event.changes.compactMap(\.doubleSHA512)
            }
        }
        accountIDs = Set(accountIDs).sorted { $0.uniqueID < $1.uniqueID }
        codeDigests = Self.sortedDigests(codeDigests)
        deviceDigests = Self.sortedDigests(deviceDigests)
        userCodeDigests = Self.sortedDigests(userCodeDigests)
        newDevicesOf = Set(newDevicesOf).sorted { $0.rawValue < $1.rawValue }
        familyIDs = Set(familyIDs).sorted()
        googleSubjects = Self.sortedBytes(googleSubjects)
        tokenDigests = Set(tokenDigests).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        eventIdentifiers = Self.sortedBytes(eventIdentifiers)
    }

    /// Returns the accounts whose paces a store must load, because a command can begin a grant or a token
    /// family for them.
    ///
    /// - Parameter found: All accounts to which the batch's keys belong.
    package func accountsOfPaces(among found: [AccountID]) -> [AccountID] {
        codeDigests.isEmpty ? accountIDs : found
    }

    /// True if the commands name Google accounts or Google events, for which there is no account to lock.
    package var isAboutGoogle: Bool { !googleSubjects.isEmpty || !eventIdentifiers.isEmpty }

    private static func sortedDigests(_ digests: [SHA256Digest]) -> [SHA256Digest] {
        Set(digests).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    private static func sortedBytes(_ texts: [String]) -> [String] {
        Set(texts).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

extension GrantCommand {
    /// True for the frequent commands. They read no codes, or read other families' codes only when they end a
    /// family or a grant.
    fileprivate var isAboutOneFamily: Bool {
        switch self {
        case .redeem, .refresh, .pollDevice, .beginDevice: true
        case .decideDevice, .authorize, .revoke, .end, .endAll, .assertion, .exchange, .learnGoogleSubject,
            .googleEvent:
            false
        }
    }
}

extension RevokeCommand.Token {
    var familyID: UniqueID {
        switch self {
        case .refresh(let presented): presented.familyID
        case .access(let familyID): familyID
        }
    }
}

extension GoogleEventCommand.Change {
    fileprivate var doubleSHA512: SHA512Digest? {
        if case .endToken(let digest, _, _) = self { digest } else { nil }
    }
}
