"""Operations on pages: one table, from which every interface is made (P4, P15)."""
