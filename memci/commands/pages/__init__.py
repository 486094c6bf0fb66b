"""Operations on pages: one table, from which every way in is made (P4, P15)."""
