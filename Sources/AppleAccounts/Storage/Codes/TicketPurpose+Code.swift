extension TicketPurpose: StorageCode {
    package static let numbered: [TicketPurpose] = [
        .webState, .webBrowser, .webResult,
    ]
}
