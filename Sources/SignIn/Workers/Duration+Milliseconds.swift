extension Duration {
    /// Rounded down, and brought into the range of about 290 million years.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let bounded = min(max(seconds, -9_000_000_000_000_000), 9_000_000_000_000_000)
        return bounded * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
