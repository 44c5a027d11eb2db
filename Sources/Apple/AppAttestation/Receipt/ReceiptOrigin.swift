/// The way in which a receipt has just arrived. Both are checked differently.
public enum ReceiptOrigin: Sendable, Hashable {
    /// In the attestation of this client data hash.
    case attestation(ClientDataHash)
    /// In a response of Apple.
    case exchange

    var kind: ReceiptKind {
        switch self {
        case .attestation: .attestation
        case .exchange: .refreshed
        }
    }
}
