# Reads a profile in the text form of llvm-profdata, and prints the functions in it with how often their blocks were
# executed in sum.
BEGIN { RS = ""; FS = "\n" }
{
    field = 1
    # The first record of the file begins with lines about the whole.
    while ($field ~ /^[#:]/) field++
    name = $field
    # The name of a private function has its file in front.
    sub(/^[^;]*;/, "", name)
    while (field < NF && $field != "# Counter Values:") field++
    sum = 0
    while ($(++field) ~ /^[0-9]+$/) sum += $field
    printf "%.0f %s\n", sum, name
}
