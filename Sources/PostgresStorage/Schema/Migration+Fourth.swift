extension Migration {
    /// Addresses under Apple's relay domains are relays: some tokens have one without the claim.
    ///
    /// A migration of its own, because the one before locks the table until its end, and this one looks at
    /// every row.
    static let fourth = Migration(
        number: 4, minimumReader: 1,
        sql: """
            -- In the collation "C" this changes ASCII letters only.
            UPDATE subject SET email_is_private = true
            WHERE NOT email_is_private AND (
                lower(email) LIKE '%@privaterelay.appleid.com' OR lower(email) LIKE '%@private.icloud.com');
            """)
}
