import AppleAccounts

/// The net effect of a sequence of changes of codes and tokens, for a writer that deletes first and inserts
/// afterwards.
struct NetAppleTokenChanges {
    private struct TokenName: Hashable {
        let accountID: AccountID
        let clientID: ClientID
    }

    /// Accounts that lose all of their earlier codes and tokens.
    private(set) var emptiedAccounts: [AccountID] = []
    private(set) var removedCodes: [UniqueID] = []
    private(set) var removedTokens: [(accountID: AccountID, clientID: ClientID)] = []
    private var insertedCodes: [UniqueID: NewAuthorizationCode] = [:]
    private var putTokens: [TokenName: RefreshTokenRecord] = [:]

    init(_ changes: [AppleTokenChange]) {
        for change in changes { add(change) }
    }

    /// In the order of their IDs.
    var codes: [NewAuthorizationCode] { insertedCodes.values.sorted { $0.id < $1.id } }

    /// Tokens in the order of account and client ID, at most one for each pair.
    var tokens: [RefreshTokenRecord] {
        putTokens.values.sorted {
            ($0.accountID.uniqueID, $0.clientID) < ($1.accountID.uniqueID, $1.clientID)
        }
    }

    private mutating func add(_ change: AppleTokenChange) {
        switch change {
        case .insertCode(let code):
            if insertedCodes[code.id] == nil { insertedCodes[code.id] = code }
        case .removeCode(let id):
            insertedCodes[id] = nil
            removedCodes.append(id)
        case .putToken(let token):
            putTokens[TokenName(accountID: token.accountID, clientID: token.clientID)] = token
        case .removeToken(let accountID, let clientID):
            putTokens[TokenName(accountID: accountID, clientID: clientID)] = nil
            removedTokens.append((accountID, clientID))
        case .removeAll(let accountID):
            insertedCodes = insertedCodes.filter { $0.value.accountID != accountID }
            putTokens = putTokens.filter { $0.key.accountID != accountID }
            emptiedAccounts.append(accountID)
        }
    }
}
