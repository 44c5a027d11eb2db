package import AppleAccounts
package import Cryptography

/// What a batch of grant commands has to see: names of rows, none twice, in the order of their values.
///
/// A store first finds the accounts that codes, lines and the like belong to, then locks all accounts in one
/// order, and then loads everything of them. Of the codes it may load those of `codeDigests` only, unless
/// `needsAllCodes`.
package struct GrantQuestion: Sendable, Hashable {
    /// The accounts that commands name.
    package private(set) var accountIDs: [AccountID] = []
    package private(set) var codeDigests: [SHA256Digest] = []
    /// Whether a command cannot be applied without all codes of its account.
    package private(set) var needsAllCodes = false
    package private(set) var lineIDs: [UniqueID] = []
    /// The `sub`s of Google accounts: lines that came with them, and what Google has said of them.
    package private(set) var googleSubjects: [String] = []
    /// SHA-512 of SHA-512 of current refresh tokens.
    package private(set) var tokenDigests: [SHA512Digest] = []
    /// The `jti` of Google's events.
    package private(set) var eventIdentifiers: [String] = []

    init(_ commands: [GrantCommand]) {
        for command in commands {
            if !command.isAboutOneLine { needsAllCodes = true }
            switch command {
            case .authorize(let authorize): accountIDs.append(authorize.accountID)
            case .redeem(let redeem): codeDigests.append(redeem.codeDigest)
            case .refresh(let refresh): lineIDs.append(refresh.presented.lineID)
            case .revoke(let revoke): lineIDs.append(revoke.token.lineID)
            case .end(let end): accountIDs.append(end.accountID)
            case .assertion(let assertion):
                accountIDs.append(assertion.accountID)
                googleSubjects.append(assertion.googleSubject)
            case .googleEvent(let event):
                eventIdentifiers.append(event.jti)
                googleSubjects += event.changes.compactMap(\.googleSubject)
                tokenDigests += event.changes.compactMap(\.doubleSHA512)
            }
        }
        accountIDs = Set(accountIDs).sorted { $0.uniqueID < $1.uniqueID }
        codeDigests = Set(codeDigests).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        lineIDs = Set(lineIDs).sorted()
        googleSubjects = Self.sortedBytes(googleSubjects)
        tokenDigests = Set(tokenDigests).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        eventIdentifiers = Self.sortedBytes(eventIdentifiers)
    }

    /// Whether it names what has no account to be locked by: Google's accounts and events.
    package var isAboutGoogle: Bool { !googleSubjects.isEmpty || !eventIdentifiers.isEmpty }

    private static func sortedBytes(_ texts: [String]) -> [String] {
        Set(texts).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

extension GrantCommand {
    /// The two that come often. They see other codes than their own only when they end something.
    fileprivate var isAboutOneLine: Bool {
        switch self {
        case .redeem, .refresh: true
        case .authorize, .revoke, .end, .assertion, .googleEvent: false
        }
    }
}

extension RevokeCommand.Token {
    var lineID: UniqueID {
        switch self {
        case .refresh(let presented): presented.lineID
        case .access(let lineID): lineID
        }
    }
}

extension GoogleEventCommand.Change {
    fileprivate var doubleSHA512: SHA512Digest? {
        if case .endToken(let digest, _) = self { digest } else { nil }
    }
}
