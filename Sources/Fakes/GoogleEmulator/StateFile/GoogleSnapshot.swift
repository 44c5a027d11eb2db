import EmulatorServer
import JOSE

/// The state that survives a restart: links with their tokens, begun links, accepted events, the
/// registered receiver with the service accounts, and keys. Without it, a server with a permanent database would have grants that a restarted Google does not know.
/// Exchanges and faults are lost.
struct GoogleSnapshot: Codable {
    struct Key: Codable {
        let keyID: String
        let pem: String
    }

    let links: LinkBook
    let inbox: EventInbox
    let events: EventStreamBook
    let keys: [Key]

    init(_ world: GoogleState.World) {
        (links, inbox, events) = (world.links, world.inbox, world.events)
        keys = world.keys.map { Key(keyID: $0.keyID, pem: $0.privateKey.pem) }
    }

    /// Throws `.stateFileDamaged` when there is no key, or a key cannot be used.
    func signingKeys() throws(EmulatorError) -> [GoogleKey] {
        let read = keys.compactMap { key in
            (try? RSAPrivateKey(pem: key.pem)).map { GoogleKey(keyID: key.keyID, privateKey: $0) }
        }
        guard !read.isEmpty, read.count == keys.count else {
            throw EmulatorError(.stateFileDamaged, detail: "a key in it cannot be used")
        }
        return read
    }
}
