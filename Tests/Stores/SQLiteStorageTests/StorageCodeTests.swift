import AppleAccounts
import Testing

@testable import SQLiteStorage

/// The numbers are in existing databases: a change would break them.
@Suite struct StorageCodeTests {
    @Test func `never change`() {
        #expect(
            codes(of: CredentialReason.self) == [
                "signed_in": 1, "consent_revoked": 2, "apple_account_deleted": 3, "refresh_token_rejected": 4,
                "erased": 5,
            ])
        #expect(
            codes(of: CredentialSource.self) == [
                "sign_in": 1, "notification": 2, "daily_check": 3, "erasure": 4,
            ])
        #expect(codes(of: EmailForwarding.self) == ["enabled": 1, "disabled": 2, "unknown": 3])
        #expect(
            codes(of: NotificationReceipt.self) == [
                "applied": 1, "duplicate": 2, "unknown_type": 3, "unchanged": 4,
            ])
        #expect(
            codes(of: AccountEvent.Kind.self) == [
                "account_created": 1, "credential_authorized": 2, "credential_revoked": 3, "email_changed": 4,
                "email_forwarding_changed": 5, "profile_changed": 6, "account_deleted": 7,
                "account_erased": 8,
                "account_transferred": 9, "grant_created": 10, "grant_revoked": 11,
                "account_disabled": 12, "account_enabled": 13, "sessions_ended": 14,
                "token_revoked": 15,
            ])
        #expect(
            codes(of: GrantEndReason.self) == [
                "unlinked": 1, "client_revoked": 2, "token_reused": 3, "replaced": 4, "google_revoked": 5,
                "consent_revoked": 6, "apple_account_deleted": 7, "erased": 8,
                "signed_out": 9,
            ])
        #expect(
            codes(of: Disabling.Reason.self) == [
                "abuse": 1, "fraud": 2, "security": 3, "payment": 4, "legal": 5, "requested": 6, "other": 7,
            ])
        #expect(
            codes(of: GoogleEventKind.self) == [
                "sessions-revoked": 1, "tokens-revoked": 2, "token-revoked": 3, "account-disabled": 4,
                "account-enabled": 5, "account-credential-change-required": 6, "verification": 7, "other": 8,
            ])
        #expect(codes(of: GoogleEventReason.self) == ["hijacking": 1, "bulk-account": 2])
    }

    @Test func `refuse numbers that they do not know`() {
        #expect(throws: StorageError(.corrupted, detail: "")) { try CredentialReason(storageCode: 99) }
    }

    private func codes<Code: StorageCode & RawRepresentable<String>>(of _: Code.Type) -> [String: Int64] {
        Dictionary(uniqueKeysWithValues: Code.allCases.map { ($0.rawValue, $0.storageCode) })
    }
}
