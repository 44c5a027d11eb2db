import Encodings

/// Issued secrets with their owners. A full table drops the oldest tenth.
struct TokenTable<Owner: Hashable & Codable & Sendable, Value: Codable & Sendable>: Codable {
    private struct Entry: Codable {
        let serial: Int
        let owner: Owner
        let value: Value
    }

    let capacity: Int
    private var entries: [String: Entry] = [:]
    /// Each owner's secrets, so that they can be removed without searching the whole table.
    private var secrets: [Owner: Set<String>] = [:]
    private var lastSerial = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    subscript(secret: String) -> Value? { entry(secret)?.value }

    func owner(of secret: String) -> Owner? { entry(secret)?.owner }

    func values(of owner: Owner) -> [Value] {
        (secrets[owner] ?? []).compactMap { entries[$0]?.value }
    }

    mutating func insert(_ secret: String, _ value: Value, of owner: Owner) {
        remove(secret)
        if entries.count >= capacity { forgetOldest() }
        lastSerial += 1
        entries[secret] = Entry(serial: lastSerial, owner: owner, value: value)
        secrets[owner, default: []].insert(secret)
    }

    mutating func remove(_ secret: String) {
        guard let entry = entries.removeValue(forKey: secret) else { return }
        secrets[entry.owner]?.remove(secret)
        if secrets[entry.owner]?.isEmpty == true { secrets[entry.owner] = nil }
    }

    mutating func removeAll(of owner: Owner) {
        for secret in secrets.removeValue(forKey: owner) ?? [] { entries[secret] = nil }
    }

    mutating func removeAll(where isGone: (Owner) -> Bool) {
        for owner in secrets.keys.filter(isGone) { removeAll(of: owner) }
    }

    /// Compares the bytes too, because a dictionary treats canonically equivalent strings as equal.
    private func entry(_ secret: String) -> Entry? {
        guard let index = entries.index(forKey: secret), entries[index].key.isByteEqual(to: secret) else {
            return nil
        }
        return entries[index].value
    }

    private mutating func forgetOldest() {
        let serials = entries.values.map(\.serial).sorted()
        let bound = serials[serials.count / 10]
        for (secret, entry) in entries where entry.serial <= bound { remove(secret) }
    }
}
