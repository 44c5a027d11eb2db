import AppleAccounts
import Testing

extension AccountEvent {
    /// A revocation of one app's credential.
    ///
    /// - Parameter subject: `nil` for an erased user.
    static func sample(
        _ kind: Kind = .credentialRevoked, subject: String? = "000317.d4f5.1444", hasAccount: Bool = true
    ) throws -> AccountEvent {
        AccountEvent(
            sequence: 7, id: EventID(UniqueID(high: 0x7000, low: 0x8000_0000_0000_0001)), kind: kind,
            team: try #require(TeamID("A1B2C3D4E5")), subject: subject.flatMap { AppleSubject($0) },
            accountID: hasAccount ? AccountID(UniqueID(high: 0x7001, low: 0x8000_0000_0000_0002)) : nil,
            clientID: ClientID("com.example.app"), reason: .consentRevoked, source: .notification,
            moment: Moment(milliseconds: 1_763_692_270_622),
            recordedAt: Moment(milliseconds: 1_763_692_282_101))
    }
}
