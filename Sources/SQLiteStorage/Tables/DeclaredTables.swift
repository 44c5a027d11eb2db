package import SQLTables

/// Every table of the schema with its columns, each classified. Tests compare it with the schema, and
/// erasures with it.
package enum DeclaredTables {
    package static let all: [TableDeclaration] = [
        TeamTable.declaration, AppTable.declaration, ClientTable.declaration, SubjectTable.declaration,
        CredentialTable.declaration, NonceTable.declaration, UsedNonceTable.declaration,
        NonceKeyTable.declaration, NotificationTable.declaration, NotificationEventTable.declaration,
        EventTable.declaration, AuthorizationCodeTable.declaration, RefreshTokenTable.declaration,
        ErasureTable.declaration, ErasureAppTable.declaration, ErasureGrantTable.declaration,
        OAuthGrantTable.declaration, OAuthLineTable.declaration, OAuthCodeTable.declaration,
        OAuthGrantPaceTable.declaration,
        SecurityEventDeliveryTable.declaration, GoogleEventTable.declaration, GoogleAccountTable.declaration,
        SigningKeyTable.declaration, TransferTable.declaration, TicketTable.declaration,
        KeySetSnapshotTable.declaration,
        HealthProbeTable.declaration,
    ]
}
