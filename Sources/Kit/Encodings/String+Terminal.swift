extension String {
    /// Text of a server, for a terminal: printable ASCII only, because other characters could move the
    /// cursor or change what was printed before. At most `limit` characters.
    package func forTerminal(limit: Int = 200) -> String {
        String(unicodeScalars.prefix(limit).map { (" "..."~").contains($0) ? Character($0) : "?" })
    }
}
