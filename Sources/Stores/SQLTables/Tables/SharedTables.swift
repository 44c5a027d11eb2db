/// Tables that are the same in both stores, with their columns. Each store adds the tables whose columns
/// differ.
public enum SharedTables {
    public static let all: [TableDeclaration] = [
        TeamTable.declaration, AppTable.declaration, ClientTable.declaration,
        UsedNonceTable.declaration, NonceKeyTable.declaration, NotificationTable.declaration,
        NotificationEventTable.declaration, EventTable.declaration, AuthorizationCodeTable.declaration,
        RefreshTokenTable.declaration, ErasureTable.declaration, ErasureAppTable.declaration,
        ErasureTokenTable.declaration, OAuthGrantTable.declaration, OAuthTokenFamilyTable.declaration,
        OAuthCodeTable.declaration, OAuthDeviceTable.declaration, OAuthGrantPaceTable.declaration,
        GoogleEventTable.declaration, GoogleAccountTable.declaration, SigningKeyTable.declaration,
        TransferTable.declaration, TicketTable.declaration, KeySetSnapshotTable.declaration,
        HealthProbeTable.declaration, AppCheckHourTable.declaration, AppAttestKeyTable.declaration,
        AppAttestCountTable.declaration, EventReceiverTable.declaration, EventRetryTable.declaration,
        AuditTable.declaration, AuditChainTable.declaration, ConfigurationFingerprintTable.declaration,
        AccountHistoryTable.declaration, ServiceHourTable.declaration,
    ]
}
