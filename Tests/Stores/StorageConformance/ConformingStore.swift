public import AppAttestation
public import AppleAccounts
public import AuthorizationServer

/// All protocols that the suite needs from a store.
public typealias ConformingStore = AccountStore & AppleTokenStore & TicketStore & TransferStore
    & NonceKeyStore & AppAttestStore
    & AuthorizationStore & AppCheckHourStore & AppReceiptStore
    & DeliveryStore & AuditStore & GrantInspectionStore & InboxStore & ServiceHourStore
