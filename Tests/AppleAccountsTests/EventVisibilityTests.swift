import AppleAccounts
import StorageConformance
import Testing

@Suite struct EventVisibilityTests {
    let visibility = EventVisibility.only(clientIDs: ["com.example.app"], teams: ["A1B2C3D4E5"])

    @Test(arguments: [("com.example.app", true), ("com.example.other", false)] as [(ClientID, Bool)])
    func `shows a credential's event to those who may see its app`(clientID: ClientID, expected: Bool) {
        #expect(visibility.includes(event(of: .sample(), clientID: clientID)) == expected)
        #expect(EventVisibility.everything.includes(event(of: .sample(), clientID: clientID)))
    }

    @Test(arguments: [("A1B2C3D4E5", true), ("OTHERTEAM1", false)] as [(TeamID, Bool)])
    func `shows an account's event to those who may see an app of its team`(team: TeamID, expected: Bool) {
        #expect(visibility.includes(event(of: .sample(team: team), clientID: nil)) == expected)
    }

    private func event(of key: SubjectKey, clientID: ClientID?) -> AccountEvent {
        AccountEvent(
            id: EventID(UniqueID(high: 1, low: 2)), kind: .emailChanged, key: key, clientID: clientID,
            moment: 1,
            recordedAt: 2)
    }
}
