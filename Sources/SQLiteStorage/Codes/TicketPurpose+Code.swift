import AppleAccounts

extension TicketPurpose: StorageCode {
    static let numbered: [TicketPurpose] = [
        .webState, .webBrowser, .webResult,
    ]
}
