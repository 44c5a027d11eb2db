import KeySets

extension KeySetFetchOutcome {
    static func set(
        _ keyIDs: [String], entityTag: String? = nil, cacheControl: String? = nil
    ) throws -> KeySetFetchOutcome {
        .replaced(
            try SampleKeySet.received(keyIDs, entityTag: entityTag), CacheControl(cacheControl, age: nil))
    }
}
