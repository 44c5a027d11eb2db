public import AppleAccounts
public import AuthorizationServer

/// All protocols that the suite needs from a store.
public typealias ConformingStore = AccountStore & GrantStore & TicketStore & TransferStore & NonceKeyStore
    & AuthorizationStore
