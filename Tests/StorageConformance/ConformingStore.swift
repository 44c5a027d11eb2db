public import AppleAccounts
public import AuthorizationServer

/// Everything that the suite asks of a store.
public typealias ConformingStore = AccountStore & GrantStore & TicketStore & TransferStore & NonceKeyStore
    & AuthorizationStore
