import Inspection
import KeySets
import OAuth
import StrictJSON

/// The keys of the running service.
struct ServiceKeySource: InspectedKeySource {
    let apple: any VerificationKeys
    let own: SigningKeys?

    func appleKeys() async throws(KeysUnavailable) -> InspectedKeys {
        InspectedKeys(apple, keyIDs: (apple as? PinnedKeySet)?.keyIDs)
    }

    func issuerKeys() async throws(KeysUnavailable) -> [JSONValue] {
        guard let own else { throw KeysUnavailable(description: "this service signs no tokens") }
        do {
            return try await own.published().map { .object($0) }
        } catch {
            throw KeysUnavailable(description: "the signing keys cannot be read from the database")
        }
    }
}
